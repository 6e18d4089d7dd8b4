<?php
// Runs main.php and gives back the proof once its last line has run.
final class ProctorLaunch
{
    private static string $turned = '';
    private static int $last = 0;

    public static function begin(): void
    {
        self::$turned = strrev(trim((string) fgets(STDIN)));
        self::$last = count(file('main.php'));
    }

    public static function end(): void
    {
        $place = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 1)[0];
        if (basename($place['file']) === 'main.php' && $place['line'] === self::$last) {
            while (ob_get_level() > 0) {
                ob_end_flush();
            }
            fwrite(STDOUT, "\n" . strrev(self::$turned) . "\n");
        }
    }
}
ProctorLaunch::begin();
require __DIR__ . '/main.php';
