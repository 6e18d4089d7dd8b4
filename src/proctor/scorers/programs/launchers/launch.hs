-- Runs the program's own main and gives back the proof once it has returned.
module Main (main) where

import qualified Program
import System.IO

main :: IO ()
main = do
  given <- hGetLine stdin
  let turned = reverse given
  _ <- length turned `seq` Program.main
  hFlush stdout
  putStrLn ("\n" ++ reverse turned)
  hFlush stdout
