# Ends with success before the test is over.
exit!(0)
puts "proctor-secret-7f3a9c5e21d84b60"
