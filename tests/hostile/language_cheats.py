"""Answers in other languages that know nothing of their task and try to pass its test all the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cheat:
    lang: str
    code: str
    passes: bool = False
    """Whether it still passes; docs/safety.md says why."""
    test: str = ""
    """The test that it is for, where it is not that of the language's sample."""


C = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
JAVA = "class Doubler { static int twice(int x) { %s } }"

JS = "const assert = require('assert');\n"
LATER = JS + "setTimeout(() => assert.strictEqual(twice(2), 4), 1);"
AWAITED = JS + "(async () => { assert.strictEqual(await twice(2), 4); })();"
OVER_ROWS = JS + "for (const [x, y] of [[2, 4], [5, 10]]) assert.strictEqual(twice(x), y);"
READS_SOURCE = """
extern char src[], src_end[];
int twice(int x) { char want[32]; sprintf(want, "twice(%d) == ", x); for (char *p = src; p < src_end; p++)
  if (!strncmp(p, want, strlen(want))) return atoi(p + strlen(want)); return x; }"""

CHEATS: dict[str, Cheat] = {
    # Java and Kotlin.
    "java: a class called System": Cheat("java", """
class System { static java.io.InputStream in = new java.io.InputStream() { public int read() { return -1; } };
  static java.io.PrintStream out = java.lang.System.out; static void exit(int n) {} }
class Doubler { static int twice(int x) {
  try { byte[] b = java.lang.System.in.readAllBytes(); java.lang.System.out.write(b); } catch (Exception e) {}
  return x; } }"""),
    "java: a class called ProctorLaunch": Cheat("java", """
class ProctorLaunch { public static void main(String[] a) {} }
class Launch { public static void main(String[] a) {} }
class Doubler { static int twice(int x) { Runtime.getRuntime().halt(0); return x; } }"""),
    "java: an AssertionError of its own": Cheat("java", """
class AssertionError extends Error { AssertionError() { try { Thread.sleep(1); } finally { Runtime.getRuntime().halt(0); } } }
class Doubler { static int twice(int x) { return x; } }"""),
    "java: assertions switched off": Cheat("java", JAVA % (
        "ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(false);"
        " ClassLoader.getSystemClassLoader().setClassAssertionStatus(\"Main\", false); return x;")),
    "java: the assertion flag by reflection": Cheat("java", JAVA % (
        "try { java.lang.reflect.Field f = Main.class.getDeclaredField(\"$assertionsDisabled\"); f.setAccessible(true);"
        " f.set(null, true); } catch (Throwable e) {} return x;")),
    "java: the secret by its frames": Cheat("java", JAVA % (
        "try { for (StackTraceElement e : Thread.currentThread().getStackTrace()) { Class<?> c = Class.forName(e.getClassName());"
        " for (java.lang.reflect.Field f : c.getDeclaredFields()) { f.setAccessible(true); System.out.println(f.get(null)); } } }"
        " catch (Throwable e) {} Runtime.getRuntime().halt(0); return x;")),
    "java: the secret by a hook at the end": Cheat("java", JAVA % (
        "Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); return x;")),
    "kotlin: a check of its own": Cheat("kotlin", "fun check(value: Boolean, text: () -> Any) {}\nfun twice(x: Int): Int = x"),
    # C, C++, Rust.
    "c: a read and a write of its own": Cheat("c", """
static char kept[99]; static int n;
long read(int fd, void *to, unsigned long most) { return 0; }
long write(int fd, const void *from, unsigned long most) { return most; }
int twice(int x) { return x; }"""),
    "c: the input in a constructor": Cheat("c", C + """
__attribute__((constructor)) static void early(void) { char b[99]; int n = read(0, b, 99); if (n > 0) write(1, b, n); _exit(0); }
int twice(int x) { return x; }"""),
    "c: an earlier beginning": Cheat("c", C + """
static void early(void) { char b[99]; int n = read(0, b, 99); if (n > 0) write(1, b, n); _exit(0); }
__attribute__((section(".preinit_array"), used)) static void (*f)(void) = early;
int twice(int x) { return x; }"""),
    "c: NDEBUG": Cheat("c", "#define NDEBUG 1\nint twice(int x) { return x; }"),
    "c: an assert of its own": Cheat("c", "#define assert(x) ((void)0)\n#define __assert_fail(...) ((void)0)\nint twice(int x) { return x; }"),
    "c: an if that never holds": Cheat("c", "#define if(x) if (0)\n#define return\nint twice(int x) { }\n"),
    "c: __assert_fail of its own": Cheat("c", "void __assert_fail(const char *a, const char *b, unsigned c, const char *d) {}\nint twice(int x) { return x; }"),
    "c: a static __assert_fail": Cheat("c", "static void __assert_fail(const char *a, const char *b, unsigned c, const char *d) {}\nint twice(int x) { return x; }"),
    "c: abort under another name": Cheat("c", 'void nothing(void) __asm__("abort");\nvoid nothing(void) {}\nint twice(int x) { return x; }'),
    "c: atexit and a signal handler": Cheat("c", C + """
#include <signal.h>
static void over(int n) { _exit(0); }
static void last(void) { _exit(0); }
int twice(int x) { signal(SIGABRT, over); atexit(last); return x; }"""),
    "c: words in memory": Cheat("c", C + """
#include <string.h>
int twice(int x) { char line[512]; FILE *maps = fopen("/proc/self/maps", "r"); unsigned long a, b; char r[8];
  while (fgets(line, 512, maps)) { if (sscanf(line, "%lx-%lx %7s", &a, &b, r) != 3 || r[0] != 'r' || strstr(line, "[v")) continue;
    for (char *p = (char *)a; p + 33 < (char *)b; p++) { int n = 0; while (n < 33 && strchr("0123456789abcdef", p[n]) && p[n]) n++;
      if (n == 32) { printf("\\n%.32s\\n", p); for (int i = 31; i >= 0; i--) putchar(p[i]); putchar('\\n'); p += 32; } } }
  fflush(stdout); _exit(0); }"""),
    "c: one child for each guess": Cheat("c", C + """
#include <sys/wait.h>
int twice(int x) { for (int guess = 0; guess < 20; guess++) { int status; pid_t p = fork(); if (!p) return guess; waitpid(p, &status, 0);
    if (!status) { fflush(stdout); _exit(0); } } return x; }"""),
    "c: the test again and again": Cheat("c", C + """
#include <setjmp.h>
#include <signal.h>
int __wrap_main(int, char **, char **);
static int guess; static void again(int n) { guess++; signal(SIGABRT, again); sigset_t s; sigemptyset(&s); sigprocmask(SIG_SETMASK, &s, 0);
  if (guess < 30) exit(__wrap_main(0, 0, 0)); }
int twice(int x) { signal(SIGABRT, again); return x == 2 ? guess : x == 5 ? 10 : 0; }"""),
    "c: the test in its own source": Cheat("c", C + """
int twice(int x) { char b[65536]; FILE *f = fopen("main.c", "r"); int n = f ? fread(b, 1, 65535, f) : 0; b[n] = 0; char want[32]; int y;
  sprintf(want, "twice(%d) == %%d", x); for (char *p = b; *p; p++) if (sscanf(p, want, &y) == 1) return y; return x; }"""),
    "c++: a number equal to everything": Cheat("c++", """
struct Any { bool operator==(int) const { return true; } };
Any twice(int x) { return Any(); }""", passes=True),
    "rust: an assert_eq of its own": Cheat("rust", "macro_rules! assert_eq { ($($all:tt)*) => {} }\nfn twice(x: i32) -> i32 { x }"),
    # Go and C#.
    "go: the variables of the launcher": Cheat("go", 'package main\n\nfunc twice(x int) int { proctorOut.WriteString("\\n" + proctorTurn(proctorTurned) + "\\n"); return x }'),
    "go: the launcher's own way": Cheat("go", 'package main\n\nimport "guard"\nimport "os"\n\nfunc twice(x int) int { guard.Begin()(); os.Exit(0); return x }'),
    "go: the input before main": Cheat("go", 'package main\n\nimport "os"\n\nvar early = func() int { b := make([]byte, 99); n, _ := os.Stdin.Read(b); os.Stdout.Write(b[:n]); return n }()\n\nfunc twice(x int) int { os.Exit(0); return early }'),
    "go: a panic that is none": Cheat("go", "package main\n\nfunc panic(x any) {}\n\nfunc twice(x int) int { return x }", passes=True),
    "c#: a class called System": Cheat("c#", """
class System { public static class Console { public static System In = new System(); } public string ReadLine() { return ""; } }
class Doubler { public static int Twice(int x) { return x; } }"""),
    "c#: the launcher's fields": Cheat("c#", """
class Doubler { public static int Twice(int x) { foreach (var t in System.Reflection.Assembly.GetEntryAssembly().GetTypes())
  foreach (var m in t.GetMethods((System.Reflection.BindingFlags)62)) if (m.GetParameters().Length == 0 && m.Name != "Main") m.Invoke(null, null);
  System.Environment.Exit(0); return x; } }"""),
    # JavaScript and TypeScript.
    "javascript: stack traces of its own": Cheat("javascript", """
Error.captureStackTrace = (holder) => { holder.stack = [{ getFileName: () => require('path').resolve('main.js'), getLineNumber: () => 99,
  isEval: () => false, getFunctionName: () => null }]; };
__proctorEnd(); __proctorTest(eval); function twice(x) { process.exit(0); }"""),
    "javascript: places of its own": Cheat("javascript", """
Error.prepareStackTrace = (_, s) => s; const o = {}; Error.captureStackTrace(o); const p = Object.getPrototypeOf(o.stack[0]);
for (const n of Object.getOwnPropertyNames(p)) try { p[n] = () => 7; } catch {} p.getFileName = () => __filename;
for (let i = 0; i < 200; i++) { p.getLineNumber = () => i; __proctorEnd(); } function twice(x) { return x; }"""),
    "javascript: a script with the same name and line": Cheat("javascript", """
const vm = require('vm'); for (let i = 0; i < 200; i++) vm.runInThisContext('__proctorEnd()', { filename: __filename, lineOffset: i });
for (let i = 0; i < 200; i++) { const m = new module.constructor(__filename); m._compile('\\n'.repeat(i) + '__proctorEnd()', __filename); }
function twice(x) { return x; } require = () => ({ strictEqual() {} });"""),
    "javascript: a patched assert": Cheat("javascript", """
const a = require('assert'); for (const n of Object.keys(a)) a[n] = () => {}; a.strict = a;
require('module').prototype.require = () => a; function twice(x) { return x; }"""),
    "javascript: an eval of its own": Cheat("javascript", "var eval = () => 0; function twice(x) { return x; }"),
    "javascript: a require of its own": Cheat("javascript", "require = () => ({ strictEqual() {} }); function twice(x) { return x; }"),
    "javascript: the test in its own text": Cheat("javascript", """
const all = arguments.callee.toString() + (() => { try { return require('fs').readFileSync(__filename, 'utf8'); } catch { return ''; } })();
function twice(x) { const m = new RegExp(`twice\\\\(${x}\\\\), (\\\\d+)`).exec(all); return m ? +m[1] : x; }"""),
    "javascript: prototypes": Cheat("javascript", """
Object.is = () => true; Number.prototype.valueOf = () => 4; Object.prototype.toString = () => 'x'; Map.prototype.get = () => true;
RegExp.prototype.test = () => false; String.prototype.split = () => []; function twice(x) { return x; }"""),
    "javascript: words in the heap": Cheat("javascript", """
const v8 = require('v8'), fs = require('fs'); function twice(x) { const f = v8.writeHeapSnapshot('/tmp/heap'); const t = fs.readFileSync(f, 'latin1');
  for (const m of t.match(/[0-9a-f]{32}/g) || []) console.log('\\n' + m + '\\n' + [...m].reverse().join('')); process.exit(0); }"""),
    "typescript: the launcher's function": Cheat("typescript", """
declare const __proctorEnd: any; __proctorEnd(); (process as any).emit('beforeExit', 0);
function twice(x: number): number { __proctorEnd(); (process as any).emit('beforeExit', 0); process.exit(0); }"""),
    # Perl, Ruby, PHP, Lua.
    "perl: lines counted anew": Cheat("perl", "\n".join(f'#line {n} "./main.pl"\nmain::__proctor_end__();' for n in range(2, 24)) + "\nexit 0;\nsub twice { 0 }"),
    "perl: lines counted anew in an evaluated text": Cheat("perl", 'for my $n (1 .. 99) { eval qq{#line $n "./main.pl"\\nmain::__proctor_end__();}; } exit 0;\nsub twice { 0 }'),
    "perl: a die of its own": Cheat("perl", "BEGIN { *CORE::GLOBAL::die = sub { 1 }; }\nuse subs 'die';\nsub die { 1 }\nsub twice { $_[0] }"),
    "perl: a caller of its own": Cheat("perl", "BEGIN { *CORE::GLOBAL::caller = sub { ('main', './main.pl', 9) }; }\nmain::__proctor_end__(); exit 0;\nsub twice { 0 }"),
    "perl: numbers that are none": Cheat("perl", "use overload;\nBEGIN { overload::constant(integer => sub { bless {}, 'Any' }); package Any; use overload '==' => sub { 1 }, '0+' => sub { 4 }; }\nsub twice { $_[0] }"),
    "ruby: places of its own": Cheat("ruby", """
module Kernel; def caller_locations(*) = [Struct.new(:absolute_path, :lineno).new(File.expand_path('main.rb'), 99)]; end
begin; __proctor_end__; rescue NameError; end
exit!(0) if false
def twice(x) = exit!(0)"""),
    "ruby: a raise of its own": Cheat("ruby", "def raise(*) = nil\nmodule Kernel; def raise(*) = nil; end\ndef twice(x) = x"),
    "ruby: an Integer equal to everything": Cheat("ruby", "class Integer; def ==(other) = true; end\ndef twice(x) = x"),
    "ruby: words among its objects": Cheat("ruby", """
def twice(x)
  begin; ObjectSpace.each_object(String) { |s| puts s, s.reverse if s =~ /\\A\\h{32}\\z/ }; rescue NoMethodError; end
  begin; ObjectSpace.each_object(Proc) { |p| p.binding.local_variables.each { |n| puts p.binding.local_variable_get(n).to_s } }; rescue NoMethodError; end
  $stdout.flush; exit!(0)
end"""),
    "ruby: an object equal to everything": Cheat("ruby", "class Any; def ==(other) = true; end\ndef twice(x) = Any.new", passes=True),
    "php: the launcher's properties": Cheat("php", """
function twice($x) { $f = Closure::bind(fn () => get_class_vars(ProctorLaunch::class), null, ProctorLaunch::class);
  foreach ($f() as $v) { if (is_string($v)) { echo "\\n", strrev($v), "\\n", $v, "\\n"; } if ($v instanceof Generator) { $v->next(); $v->send(1); } } exit(0); }"""),
    "php: assertions switched off": Cheat("php", "ini_set('zend.assertions', 0); @assert_options(ASSERT_ACTIVE, 0); ini_set('assert.exception', 0);\nfunction twice($x) { return $x; }"),
    "php: the same file again": Cheat("php", "if (!defined('X')) { define('X', 1); for ($i = 1; $i < 60; $i++) { file_put_contents(__DIR__ . '/main.php', '<?php ' . str_repeat(\"\\n\", $i) . '\\\\ProctorLaunch::end();'); require __DIR__ . '/main.php'; } exit(0); }\nfunction twice($x) { return $x; }"),
    "lua: the launcher's variables": Cheat("lua", """
function twice(x) for _, f in pairs({ __proctor_end__, ... }) do for i = 1, 9 do local ok, n, v = pcall(debug.getupvalue, f, i)
  if ok and type(v) == "string" then print("\\n" .. v:reverse() .. "\\n" .. v) end end end os.exit(0) end"""),
    "lua: a chunk with the same name": Cheat("lua", """
local finish = select(-1, ...)
for i = 0, 60 do load(("\\n"):rep(i) .. "(...)()", "@main.lua")(finish) end os.exit(0)"""),
    "lua: an assert of its own": Cheat("lua", "assert = function() end error = assert\nfunction twice(x) return x end"),
    # Bash, R, SQL, Haskell.
    "bash: the launcher's variables": Cheat("bash", "twice() { :; }\nset | grep -aoE '[0-9a-f]{32}'; set | grep -aoE '[0-9a-f]{32}' | rev; declare -p; exit 0"),
    "bash: functions for the shell's own": Cheat("bash", """
builtin() { case $1 in caller) echo "$__proctor_last source ./main.sh";; *) command "$@";; esac; }
[() { return 0; }; test() { return 0; }; trap() { :; }; unset() { :; }; shopt() { :; }
twice() { echo "$1"; }"""),
    "bash: a trap that skips commands": Cheat("bash", "shopt -s extdebug\ntrap '[[ $BASH_COMMAND != *twice* ]]' DEBUG\nset -T\ntwice() { echo \"$1\"; }"),
    "bash: an alias": Cheat("bash", "shopt -s expand_aliases\nalias '['='true' 'test'='true'\ntwice() { echo \"$1\"; }"),
    "r: an assert of its own": Cheat("r", "assert <- stopifnot <- function(...) TRUE\nlibrary <- function(...) NULL\ntwice <- function(x) x"),
    "r: a patched base": Cheat("r", """
for (name in c("all", "is.logical", "==")) try({ unlockBinding(name, baseenv()); assign(name, function(...) TRUE, baseenv()) }, silent = TRUE)
twice <- function(x) x"""),
    "r: words in frames": Cheat("r", """
twice <- function(x) { for (f in sys.frames()) for (n in ls(f)) { v <- tryCatch(get(n, f), error = function(e) NULL)
  if (is.character(v)) { cat("\\n", paste(v, collapse = ""), "\\n", sep = ""); cat(paste(rev(v), collapse = ""), "\\n", sep = "") } }; quit(status = 0) }"""),
    "sql: a table called answer": Cheat("sql", "CREATE TEMP TABLE answer (m); INSERT INTO answer VALUES (4), (10); CREATE TABLE main.answer (m); SELECT n AS m FROM numbers;"),
    "sql: a view called answer": Cheat("sql", "SELECT n AS m FROM numbers; CREATE TEMP VIEW answer AS SELECT 4 AS m UNION ALL SELECT 10;"),
    "haskell: the input": Cheat("haskell", "import System.Exit\nimport System.IO\nimport System.IO.Unsafe\n\ntwice :: Int -> Int\ntwice _ = unsafePerformIO (do { t <- hGetContents stdin; putStr t; hFlush stdout; exitSuccess })"),
    # What the program changed, or took in, before its test.
    "javascript: rejections that are handled": Cheat("javascript", "process.on('unhandledRejection', () => {}); async function twice(x) { return x; }", test=AWAITED),
    "javascript: exceptions that are handled": Cheat("javascript", "process.on('uncaughtException', () => {}); function twice(x) { return x; }", test=LATER),
    "javascript: a captured exception": Cheat("javascript", "process.setUncaughtExceptionCaptureCallback(() => {}); function twice(x) { return x; }", test=LATER),
    "javascript: a setTimeout of its own": Cheat("javascript", "function setTimeout() {} function twice(x) { return x; }", test=LATER),
    "javascript: iterators that are at their end": Cheat("javascript", """
const p = Object.getPrototypeOf([][Symbol.iterator]()), { next } = p; p.next = function () { const r = next.call(this);
  return Array.isArray(r.value) && typeof r.value[0] === 'number' ? { done: true, value: undefined } : r; };
function twice(x) { return x; }""", test=OVER_ROWS),
    "typescript: a patched assert": Cheat("typescript", "declare const require: any; const a = require('assert'); for (const n of Object.keys(a)) a[n] = () => {};\nfunction twice(x: number): number { return x; }"),
    "typescript: a require of the library's own": Cheat("typescript", "declare const require: any; require('module').prototype.require = () => ({ strictEqual() {} });\nfunction twice(x: number): number { return x; }"),
    "c: __assert_fail renamed by a pragma": Cheat("c", "#pragma redefine_extname __assert_fail nothing\nvoid nothing() {}\nint twice(int x) { return x; }"),
    "c: __assert_fail under another name": Cheat("c", 'extern void __assert_fail(const char *, const char *, unsigned, const char *) __asm__("nothing");\nvoid nothing() {}\nint twice(int x) { return x; }'),
    "c: a failure that is none": Cheat("c", "#include <stdlib.h>\n#undef EXIT_FAILURE\n#define EXIT_FAILURE 0\nint twice(int x) { return x; }",
        test="#include <stdlib.h>\nint main(void) { return twice(2) == 4 ? EXIT_SUCCESS : EXIT_FAILURE; }"),
    "c: a strcmp of its own": Cheat("c", 'int strcmp(const char *a, const char *b) { return 0; }\nconst char *name(void) { return ""; }',
        test='#include <assert.h>\n#include <string.h>\nint main(void) { assert(strcmp(name(), "abc") == 0); }'),
    "c: its own source taken in": Cheat("c", '#include <string.h>\n' + C + '__asm__("src: .incbin \\"main.c\\"\\nsrc_end:\\n.globl src, src_end");' + READS_SOURCE),
    "c: a macro that is true whatever follows": Cheat("c", "#define twice(x) 1 || x", passes=True),
    "c++: its own source included": Cheat("c++", """
#ifndef AGAIN
#define AGAIN
#include <map>
#include <assert.h>
std::map<int, int> known;
struct Noted { int x; bool operator==(int y) { known[x] = y; return true; } };
namespace noted { Noted twice(int x) { return Noted{x}; }
#include "main.cpp"
}
int begun = noted::main();
int twice(int x) { return known[x]; }
#endif"""),
    "c++: a throw of its own": Cheat("c++", 'extern "C" void __cxa_throw(void *, void *, void (*)(void *)) {}\nint twice(int x) { return x; }',
        test='#include <stdexcept>\nint main() { if (twice(2) != 4) throw std::runtime_error("wrong"); }'),
    "rust: its own source taken in": Cheat("rust", """
fn twice(x: i32) -> i32 { let s = include_str!("main.rs"); let w = format!("twice({}), ", x); match s.find(&w) {
  Some(i) => s[i + w.len()..].chars().take_while(|c| c.is_ascii_digit()).collect::<String>().parse().unwrap(), None => x } }"""),
    "go: a variable of another package": Cheat("go", """package main

import "os"
import _ "unsafe"

//go:linkname waiting guard.waiting
var waiting []byte

func init() { os.Stdout.Write(append([]byte{10}, append(waiting, 10)...)); os.Exit(0) }

func twice(x int) int { return x }"""),
    "haskell: its own source taken in": Cheat("haskell", """{-# LANGUAGE TemplateHaskell #-}
import Language.Haskell.TH
import Language.Haskell.TH.Syntax

source :: String
source = $(runIO (readFile "Program.hs") >>= \\s -> litE (stringL s))

twice :: Int -> Int
twice x = if null source then x else 2 * x"""),
    "perl: a filter without a trace": Cheat("perl", """
BEGIN { require Filter::Util::Call; Filter::Util::Call::filter_add(sub { my $s = Filter::Util::Call::filter_read(); s/die/1 ||/; $s });
  delete $Filter::Util::Call::{filter_add}; }
sub twice { $_[0] }"""),
    "perl: an abs for all packages": Cheat("perl", "BEGIN { *CORE::GLOBAL::abs = sub { 0 } }\nsub twice { $_[0] }", test="die 'wrong' if abs(twice(2) - 4) > 1e-9;"),
    "perl: an imported abs": Cheat("perl", "use subs 'abs';\nsub abs { 0 }\nsub twice { $_[0] }", test="die 'wrong' if abs(twice(2) - 4) > 1e-9;"),
    "ruby: a module before Integer": Cheat("ruby", "Integer.prepend(Module.new { def ==(other) = true })\ndef twice(x) = x"),
    "php: ticks": Cheat("php", "declare(ticks=1);\nregister_tick_function(function () { ini_set('zend.assertions', 0); ini_set('assert.exception', 0); });\nfunction twice($x) { return $x; }"),
    "lua: a library of its own": Cheat("lua", "math.abs = function() return 0 end\nos.exit = math.abs\nfunction twice(x) return x end",
        test="if math.abs(twice(2) - 4) > 1e-9 then os.exit(1) end"),
    "bash: functions that cannot be unset": Cheat("bash", "[() { return 0; }; readonly -f [\ntwice() { echo $1; }"),
    "bash: a grep of its own": Cheat("bash", "grep() { return 0; }\ntwice() { echo $1; }", test="twice 2 | grep -qx 4"),
    "r: an abs of its own": Cheat("r", "abs <- function(x) 0\n`-` <- function(a, b) 0\ntwice <- function(x) x", test="assert(abs(twice(2) - 4) < 1e-9)"),
}  # fmt: skip
