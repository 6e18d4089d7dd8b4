id -un >who.txt
