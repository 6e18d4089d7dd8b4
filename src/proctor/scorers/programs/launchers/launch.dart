// Runs the program's own main and gives back the proof once it has returned.
import 'dart:io';

import 'main.dart' as program;

Future<void> main() async {
  final turned = (stdin.readLineSync() ?? '').split('').reversed.toList();
  final dynamic run = program.main;
  final dynamic made = run is Function(List<String>) ? run(<String>[]) : run();
  if (made is Future) await made;
  stdout.write('\n${turned.reversed.join()}\n');
  await stdout.flush();
}
