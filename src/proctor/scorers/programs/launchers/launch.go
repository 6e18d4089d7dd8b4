// Runs the program's own main, renamed, and gives back the proof once it has returned.
package main

import proctorGuard "guard"

func main() {
	end := proctorGuard.Begin()
	proctorMain()
	end()
}
