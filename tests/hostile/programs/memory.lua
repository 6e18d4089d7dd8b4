-- Takes memory.
local held = {}
for turn = 1, math.huge do held[turn] = string.rep(tostring(turn), 1000000) end
