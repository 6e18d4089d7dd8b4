echo done >report.txt
echo mine >notes.txt
