"""Large runs of answers on file, in shares of rows that worker processes read, score and write."""
