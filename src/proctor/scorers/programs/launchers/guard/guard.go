// Package guard keeps the proof of a program, out of reach of the names of its package.
package guard

import (
	"crypto/rand"
	"os"
	"runtime"
)

var waiting []byte

// Before anything of the program is initialised, so that nothing of it can read what was for us.
func init() {
	waiting = make([]byte, 256)
	length := 0
	for length < len(waiting) {
		got, err := os.Stdin.Read(waiting[length:])
		length += got
		if err != nil {
			break
		}
	}
	for length > 0 && waiting[length-1] <= ' ' {
		length--
	}
	waiting = waiting[:length]
}

// Begin returns what gives back the proof, once, to the program's own beginning alone.
func Begin() func() {
	place, _, _, _ := runtime.Caller(1)
	if runtime.FuncForPC(place).Name() != "main.main" || waiting == nil {
		return func() {}
	}
	masked, mask, out := waiting, make([]byte, len(waiting)), os.NewFile(1, "stdout")
	waiting = nil
	rand.Read(mask)
	for i := range masked {
		masked[i] ^= mask[i]
	}
	return func() {
		proof := []byte{'\n'}
		for i := range masked {
			proof = append(proof, masked[i]^mask[i])
		}
		out.Write(append(proof, '\n'))
	}
}
