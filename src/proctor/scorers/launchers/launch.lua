-- Runs main.lua and gives back the proof once its last line has run.
do
  local turned = (io.read("l") or ""):gsub("%s", ""):reverse()
  local out, getinfo, last = io.stdout, debug.getinfo, 0
  for _ in io.lines("main.lua") do last = last + 1 end
  function __proctor_end__()
    local place = getinfo(2, "Sl")
    if place.source == "@main.lua" and place.currentline == last then
      out:write("\n", turned:reverse(), "\n")
      out:flush()
    end
  end
end
local chunk, problem = loadfile("main.lua")
if not chunk then
  io.stderr:write("SyntaxError: ", tostring(problem), "\n")
  os.exit(1)
end
arg = { [0] = "main.lua" }
local exit, stderr, tostring = os.exit, io.stderr, tostring
local fine, said = xpcall(chunk, debug.traceback)
if not fine then
  stderr:write(tostring(said), "\n")
  exit(1)
end
