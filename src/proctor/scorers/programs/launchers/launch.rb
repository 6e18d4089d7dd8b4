# Runs main.rb, then the test, which is read only then, and gives back the proof at its end.
lambda do
  masked = $stdin.gets.to_s.strip.bytes
  test = $stdin.read
  mask = Random.urandom(masked.size).bytes
  masked.map!.with_index { |byte, at| byte ^ mask[at] }
  $stdin.reopen(File::NULL)
  file = File.expand_path("main.rb")
  text = File.read(file)
  File.unlink(file)
  own = File.readlink("/proc/self")
  classes = [Integer, Float, String, Symbol, Array, Hash, Range, NilClass, TrueClass, FalseClass,
             Comparable, Kernel, BasicObject, Module, Class, Exception]
  kept = classes.flat_map { |kind|
    (kind.instance_methods(false) + kind.private_instance_methods(false)).map { |name| [kind, name, kind.instance_method(name)] }
  }
  plain = Kernel.private_instance_methods(false) + Kernel.instance_methods(false)
  before = classes.to_h { |kind| [kind, kind.ancestors] }
  define, remove = Module.instance_method(:define_method), Module.instance_method(:remove_method)
  ObjectSpace.singleton_class.send(:undef_method, :each_object)
  $0 = file
  TOPLEVEL_BINDING.eval(text, file, 1)
  (Object.instance_methods(false) + Object.private_instance_methods(false)).each do |name|
    remove.bind_call(Object, name) if plain.include?(name) && !%i[to_s inspect].include?(name)
  end
  classes.each do |kind|
    names = kept.filter_map { |owner, name, _| name if owner == kind }
    (kind.ancestors.take_while { |part| part != kind } - before[kind]).each do |part|
      (names & (part.instance_methods(false) + part.private_instance_methods(false))).each { |name| remove.bind_call(part, name) }
    end
  end
  kept.each { |kind, name, found| define.bind_call(kind, name, found) unless kind.instance_method(name) == found }
  TOPLEVEL_BINDING.eval(test, file, 1)
  if File.readlink("/proc/self") == own
    STDOUT.flush
    STDOUT.syswrite("\n#{masked.each_with_index.map { |byte, at| (byte ^ mask[at]).chr }.join}\n")
  end
end.call
