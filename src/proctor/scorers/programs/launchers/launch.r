# Runs main.r, then its test, and gives back the proof once all of it has run.
local({
  given <- file("stdin")
  masked <- utf8ToInt(trimws(readLines(given, n = 1)))
  close(given)
  random <- file("/dev/urandom", "rb", raw = TRUE)
  mask <- as.integer(readBin(random, "raw", length(masked)))
  close(random)
  masked <- bitwXor(masked, mask)
  if (!nzchar(system.file(package = "assert"))) {
    # The tests of InfiBench ask for the package assert; this stands in for it.
    holds <- function(...) {
      said <- as.list(substitute(list(...)))[-1]
      for (number in seq_along(said)) {
        value <- ...elt(number)
        if (!(is.logical(value) && !anyNA(value) && all(value))) {
          stop("AssertionError: ", paste(deparse(said[[number]]), collapse = " "), call. = FALSE)
        }
      }
      invisible(TRUE)
    }
    suppressWarnings(attach(list(assert = holds), name = "package:assert"))
  }
  steps <- parse("main.r", keep.source = TRUE)
  unlink("main.r")
  lines <- vapply(attr(steps, "srcref"), function(place) place[[1]], 1L)
  text <- vapply(attr(steps, "srcref"), function(place) as.character(place)[[1]], "")
  attributes(steps) <- NULL
  # What a test fails by must be what it was: names of the language that the answer took go.
  joint <- match("invisible(\"the test begins here\")", text, nomatch = 0L)
  names <- c("assert", "stopifnot", "stop", "identical", "all.equal", "isTRUE", "isFALSE", "library",
             "require", "==", "!=", "!", "(", "{", "if", "&&", "||", "<-", "<", ">", "<=", ">=", "-",
             "abs", "all", "any", "is.logical")
  base <- as.list(baseenv(), all.names = TRUE)[c(names, "all", "any", "is.logical", "anyNA", "abs", "sum", "length")]
  base <- base[!vapply(base, is.null, TRUE)]
  kept <- if (exists("holds", inherits = FALSE)) holds else NULL
  write <- base::cat
  runs <- base::eval
  looks <- base::withVisible
  global <- globalenv()
  own <- Sys.readlink("/proc/self")
  same <- base::identical
  back <- function() {
    for (name in intersect(ls(global, all.names = TRUE), names)) {
      if (is.function(get(name, global))) rm(list = name, envir = global)
    }
    for (name in names(base)) {
      if (!same(get(name, baseenv()), base[[name]])) {
        unlockBinding(name, baseenv())
        assign(name, base[[name]], baseenv())
      }
    }
    place <- match("package:assert", search())
    if (!is.null(kept) && (is.na(place) || !same(as.environment(place)[["assert"]], kept))) {
      suppressWarnings(attach(list(assert = kept), name = "package:assert", pos = 2L))
    }
  }
  for (number in seq_along(steps)) {
    if (number == joint) back()
    made <- withCallingHandlers(
      looks(runs(steps[[number]], global)),
      error = function(problem) write("main.r:", lines[[number]], ": failed\n", sep = "", file = stderr())
    )
    if (made$visible) print(made$value)
  }
  while (sink.number() > 0) sink()
  if (same(Sys.readlink("/proc/self"), own)) {
    write("\n", intToUtf8(bitwXor(masked, mask)), "\n", sep = "")
  }
})
