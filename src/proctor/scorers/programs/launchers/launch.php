<?php
// Runs main.php and gives back the proof once its last line has run.
final class ProctorLaunch
{
    private static ?Generator $proof = null;

    public static function begin(): void
    {
        self::$proof = self::wait(__DIR__ . '/main.php');
        self::$proof->current();
    }

    public static function end(): void
    {
        self::$proof?->next();
    }

    // The variables of a function that waits are seen by nothing else.
    private static function wait(string $file): Generator
    {
        $masked = trim((string) fgets(STDIN));
        $mask = random_bytes(strlen($masked));
        $masked ^= $mask;
        $last = count(file($file));
        $own = readlink('/proc/self');
        while (true) {
            yield;
            // From the last line itself, which this file runs and nothing in between, not a child.
            $places = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
            $ours = array_slice($places, 0, 3);
            if (count($places) === 4 && $ours[2]['file'] === $file && $ours[2]['line'] === $last
                && $places[3]['file'] === __FILE__ && readlink('/proc/self') === $own) {
                while (ob_get_level() > 0) {
                    ob_end_flush();
                }
                fwrite(STDOUT, "\n" . ($masked ^ $mask) . "\n");
            }
        }
    }
}
ProctorLaunch::begin();
require __DIR__ . '/main.php';
