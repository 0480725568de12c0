// Package codegen has code written by the generators of k8s.io/code-generator:
// apply configurations, clientsets, listers and informers.
//
// Those libraries end the process when they do not like what they read, ask the
// process for its name and its working folder, and would add seven megabytes and
// three milliseconds to every start of slipway. So they are a program of their
// own, slipway-codegen, that is built the first time that it is needed:
//
//	finder := codegen.NewFinder(os.Getenv, handler)
//	files, err := finder.Generate(ctx, wire.Request{Dir: dir, Runs: runs}, inputs)
//
// The program reads a request from its standard input and writes an answer,
// with the content of all files, to its standard output, in the form that package wire has. It touches no file of
// the user's. Package kubernetes is the other end: what the program consists of.
package codegen
