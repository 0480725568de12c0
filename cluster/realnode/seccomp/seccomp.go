// Package seccomp makes the filter of system calls for pods with the profile RuntimeDefault.
//
// It forbids the calls that container runtimes forbid by default. They load code into the kernel, change the machine or
// its clock, inspect processes around their permissions, or make namespaces. A forbidden call fails with EPERM. clone3
// fails with ENOSYS, because a filter cannot see its flags. Programs then fall back to clone.
package seccomp
