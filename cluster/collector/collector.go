// Package collector puts off garbage collection until the program has begun.
//
// The thousand packages of Kubernetes allocate ten megabytes while they are initialised, all of which stays. With the
// collector's usual settings it looks through them three times before main runs, which takes a fifth of the time of a
// short command like `kube-apiserver --help`. So this package, which needs hardly any other and is therefore
// initialised early, turns it off: the one exception to the rule that packages do nothing by themselves. A program that
// is not over at once calls [Resume] or has settings of its own, as package serve.
package collector

import "runtime/debug"

// usual is the setting that the program was started with.
var usual = debug.SetGCPercent(-1)

// Resume turns the collector on, with the settings that the program was started with.
func Resume() { debug.SetGCPercent(usual) }
