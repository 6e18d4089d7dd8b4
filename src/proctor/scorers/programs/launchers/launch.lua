-- Runs main.lua and gives back the proof once its last line has run.
local turned = (io.read("l") or ""):gsub("%s", "")
local masked, mask = {}, {}
do
  local random = io.open("/dev/urandom", "rb"):read(#turned)
  for i = 1, #turned do
    mask[i] = random:byte(i)
    masked[i] = turned:byte(i) ~ mask[i]
  end
  turned = nil
end
local out, getinfo, char, concat = io.stdout, debug.getinfo, string.char, table.concat
local last = 0
for _ in io.lines("main.lua") do last = last + 1 end
local chunk, problem = loadfile("main.lua")
if not chunk then
  io.stderr:write("SyntaxError: ", tostring(problem), "\n")
  os.exit(1)
end
os.remove("main.lua")
local function finish()
  local place = getinfo(2, "fl")
  if place.func ~= chunk or place.currentline ~= last then return end
  local letters = {}
  for i = 1, #masked do letters[i] = char(masked[i] ~ mask[i]) end
  out:write("\n", concat(letters), "\n")
  out:flush()
end
-- Functions of the library that the program has changed; what it added to the library stays.
local library = {}
for _, name in ipairs({ "math", "string", "table", "os" }) do
  local functions = {}
  for key, value in pairs(_G[name]) do functions[key] = value end
  library[name] = { _G[name], functions }
end
local next, rawset, globals, strings = next, rawset, _G, getmetatable("")
local function restore()
  for name, kept in next, library do
    for key, value in next, kept[2] do rawset(kept[1], key, value) end
    rawset(globals, name, kept[1])
  end
  rawset(strings, "__index", library.string[1])
end
arg = { [0] = "main.lua" }
local exit, stderr, tostring, traceback = os.exit, io.stderr, tostring, debug.traceback
-- What looks into functions that run would see the proof.
for _, name in ipairs({ "getupvalue", "setupvalue", "upvalueid", "upvaluejoin", "getlocal", "setlocal",
                        "getregistry", "sethook", "debug" }) do
  debug[name] = nil
end
-- The test's own copies of what it fails by, and what ends it; the program cannot change them.
local fine, message = xpcall(chunk, traceback, assert, error, type, tostring, tonumber, pairs, ipairs,
  pcall, rawequal, select, finish, restore)
if not fine then
  stderr:write(tostring(message), "\n")
  exit(1)
end
