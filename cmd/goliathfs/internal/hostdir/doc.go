// Package hostdir shows a folder of this machine as a vfs.Backend, as the source
// and the destination of copies and comparisons. It is not for agents: their
// tools never reach the host.
//
// Nothing outside the folder is read or written, whatever is put into it:
// symbolic links are not followed, devices and sockets are not opened. What
// cannot be a virtual file is left out of lists and told by LeftOut.
//
// A file is written beside its place first. What a killed run has left of that is
// no part of the folder, and the next one that writes there removes it.
//
// A store belongs to someone else: what git or hg would take for a part of a
// repository, and run, is not written unless AllowRepositories was called.
//
// The list of files is taken once, at the first List; Read, Stat, Write and
// Remove look at the disk. A revision is made of size and modification time, so
// two changes of one size within the clock's grain cannot be told apart: good
// enough to see what someone else changed during a copy, not for agents.
package hostdir
