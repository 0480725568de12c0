// Package owner says whose a file is: in folders that all users of a machine share, a stranger may have made what has
// the right name. Which programs are started, package process decides.
//
//	info, err := os.Lstat(dir)
//	if !owner.IsUser(info) { … } // neither read nor removed
package owner
