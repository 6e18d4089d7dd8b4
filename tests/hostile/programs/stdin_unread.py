# Leaves a large input unread.
print("not interested")
