# Connects.
require "socket"
[["127.0.0.1", ENV["PROBE_PORT"].to_i], ["1.1.1.1", 80]].each do |host, port|
  begin
    Socket.tcp(host, port, connect_timeout: 2)
    puts "ESCAPED"
  rescue SystemCallError, Errno::ETIMEDOUT
    puts "refused"
  end
end
