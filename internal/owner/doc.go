// Package owner says whose a file is: in folders that all users of a machine share, a stranger may have made what has
// the right name.
//
//	info, err := os.Lstat(dir)
//	if !owner.IsUser(info) { … } // neither read nor removed
//	if err := owner.Distrusted(program, os.Args[0]); err != nil { … } // not run
package owner

import "errors"

// Why a program is not to be run.
var (
	ErrStranger = errors.New("it belongs to another user")
	ErrWritable = errors.New("every user of this machine may change it")
)
