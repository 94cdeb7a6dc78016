# Asks bnlearn one question about a frame, as benchmarks/peers/__main__.py asks packages of Python: the same arguments,
# words and results. `iamb` is followed by how many targets there are: one, five or all.

options(warn = -1)

read_frame <- function(folder) {
  lines <- lapply(strsplit(readLines(file.path(folder, "frame.txt")), " "), as.integer)
  rows <- lines[[1]]
  levels <- lines[[3]]
  numbers <- file(file.path(folder, "numbers.bin"), "rb")
  codes <- file(file.path(folder, "codes.bin"), "rb")
  columns <- lapply(levels, function(count) {
    if (count > 0) {
      factor(readBin(codes, "integer", rows, 4, endian = "little"), seq_len(count) - 1)
    } else {
      readBin(numbers, "double", rows, 8, endian = "little")
    }
  })
  close(numbers)
  close(codes)
  names(columns) <- paste0("x", seq_along(columns) - 1)
  list(frame = as.data.frame(columns), targets = paste0("x", lines[[2]]))
}

ask <- function(data, method) {
  words <- strsplit(method, " ")[[1]]
  if (words[1] == "hc") {
    return(nrow(bnlearn::arcs(bnlearn::hc(data$frame))))
  }
  targets <- switch(words[2], one = data$targets[1], five = data$targets, all = names(data$frame))
  sum(sapply(targets, function(target) length(bnlearn::learn.mb(data$frame, target, method = words[1]))))
}

main <- function(arguments) {
  method <- arguments[6] # kind, warm, data, result, tool, method, alpha
  try(ask(read_frame(arguments[2]), method), silent = TRUE) # all that matters is that everything is loaded
  data <- read_frame(arguments[3])
  cat("ready\n")
  repeats <- 0
  begin <- proc.time()
  while (repeats == 0 || (repeats < 25 && (proc.time() - begin)[["elapsed"]] < 1)) {
    found <- ask(data, method)
    repeats <- repeats + 1
  }
  taken <- (proc.time() - begin) / repeats # the mean, as this clock has no less than milliseconds
  sprintf(
    '{"version": "%s", "seconds": [%g], "processor": [%g], "found": {"found": %d}}',
    packageVersion("bnlearn"), taken[["elapsed"]], taken[["user.self"]] + taken[["sys.self"]], found
  )
}

arguments <- commandArgs(TRUE)
answer <- tryCatch(main(arguments), error = function(error) {
  said <- iconv(strsplit(conditionMessage(error), "\n")[[1]][1], to = "ASCII", sub = "?")
  sprintf('{"error": %s}', encodeString(said, quote = '"'))
})
writeLines(answer, arguments[4])
