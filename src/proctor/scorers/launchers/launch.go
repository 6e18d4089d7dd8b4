// Runs the program's own main, renamed, and gives back the proof once it has returned.
package main

import (
	"bufio"
	"os"
	"strings"
)

var proctorTurned, proctorOut = proctorTurn(proctorRead()), os.Stdout

func proctorRead() string {
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	return strings.TrimSpace(line)
}

func proctorTurn(text string) string {
	letters := []byte(text)
	for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
		letters[i], letters[j] = letters[j], letters[i]
	}
	return string(letters)
}

func main() {
	proctorMain()
	proctorOut.WriteString("\n" + proctorTurn(proctorTurned) + "\n")
}
