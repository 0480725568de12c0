// Package seccomp makes the filter of system calls that pods with the profile RuntimeDefault get.
//
// It forbids what the defaults of container runtimes forbid: calls by which a process could load code into the kernel,
// change the machine or its clock, look into other processes by ways around their rights, or make namespaces. A
// forbidden call fails with EPERM. clone3, whose flags a filter cannot see, fails as on kernels that do not have it,
// and programs fall back to clone.
package seccomp
