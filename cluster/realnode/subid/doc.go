// Package subid maps subordinate ids of an ordinary user into user namespaces, if the system has set some aside for the
// user in /etc/subuid and /etc/subgid. The programs newuidmap and newgidmap do it, with rights that the user lacks.
//
//	ids, err := subid.Find()        // the error is ErrNone, with the reason, if there are none
//	err = ids.Give(ctx, pid)        // to the user namespace of a process of this user that has no ids yet
//
// The user is root in the namespace, and the subordinate ids follow from 1.
package subid
