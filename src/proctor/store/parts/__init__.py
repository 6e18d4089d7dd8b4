"""Large runs as files: columns of attempts, results and cases in Parquet, beside the store."""
