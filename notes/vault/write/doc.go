// Package write changes the files of a vault, and nothing else does: it replaces the text of a file, creates one, and moves
// one to another place. It keeps nothing, knows neither store nor settings, and may be called concurrently; package vault,
// its only user, has one call at a time for each vault.
//
// A file is replaced as a whole: the new text is written to a temporary file in the same folder and flushed, and then
// changes places with the old one in one step of the file system, so that whoever reads sees one text or the other. What
// came out is compared, byte by byte, with what the caller has read: when somebody wrote in the last moment, the two change
// places again, and the call fails with Changed. Sizes and times of files are never trusted. Where the file system can't
// exchange two files (Windows, FAT, some network disks), the text is compared directly before the rename, which leaves a
// window of some microseconds. On Linux a program that has the file open for writing is waited for, at most half a second.
//
// Paths are relative to the folder of the vault, with slashes. An os.Root keeps them in it: links that lead out are refused,
// links within are followed by Resolve and stay links. A file with several names (hard links) is refused: replacing it would
// part it from its other names, and writing it in place is not atomic.
//
// Errors are faults with a hint. After an error the file is as it was, and no temporary file is left; when the process is
// killed in between, Discard removes what it left.
//
// Wall: promise: nothing else changes a file that belongs to a person's vault.
package write
