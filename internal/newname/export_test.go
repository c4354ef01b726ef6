package newname

// Rename is what Give does on a file system without links.
var Rename = rename
