// Package subid gives user namespaces the ids that a system has set aside for an ordinary user, where it has: by
// entries in /etc/subuid and /etc/subgid, and by the programs newuidmap and newgidmap, which have the right to do so
// that the user has not.
//
//	ids, err := subid.Find()        // ErrNone says that there are none, and why
//	err = ids.Give(ctx, pid)        // to the user namespace of a process of this user's that has none yet
//
// In the namespace root is the user himself, and the ids above are those that were set aside.
package subid
