# Runs main.rb and gives back the proof once its last line has run.
lambda do
  turned = $stdin.gets.to_s.strip.reverse
  $stdin.reopen(File::NULL)
  file = File.expand_path("main.rb")
  last = File.readlines(file).size
  out = STDOUT
  Kernel.send(:define_method, :__proctor_end__) do
    place = caller_locations(1, 1).first
    if place.absolute_path == file && place.lineno == last
      out.write("\n#{turned.reverse}\n")
      out.flush
    end
  end
  $0 = file
end.call
load $0
