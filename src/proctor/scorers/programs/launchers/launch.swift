// Gives back the proof once the last line of main.swift has run.
import Foundation

private var turned = ""
private var last = 0

func proctorBegin(_ count: Int) {
    turned = String((readLine() ?? "").reversed())
    last = count
}

func proctorEnd(line: Int = #line, file: String = #file) {
    guard line == last, file.hasSuffix("main.swift") else { return }
    fflush(stdout)
    FileHandle.standardOutput.write(Data(("\n" + String(turned.reversed()) + "\n").utf8))
}
