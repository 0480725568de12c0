package isolated

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// TestFindUser: a number is an id and never a name, and no id is root by being none.
func TestFindUser(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"passwd": "root:x:0:0:root:/:/bin/sh\napp:x:10:20::/:\n1000:x:0:0::/:\nminus:x:-1:-1::/:\nempty:x:::\nover:x:4294967296:0::/:\n",
		"group":  "root:x:0:\napp:x:20:\nmore:x:30:app,other\nbad:x::app\n77:x:0:\n",
	} {
		if err := os.WriteFile(filepath.Join(root, "etc", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		user, group string
		uid, gid, n int
		fails       bool
	}{
		{user: "app", uid: 10, gid: 20, n: 1}, {user: "10", uid: 10, gid: 20, n: 1}, {user: "app", group: "more", uid: 10, gid: 30, n: 1},
		{user: "1000", uid: 1000}, {user: "1000", group: "77", uid: 1000, gid: 77}, {user: "5", group: "20", uid: 5, gid: 20},
		{user: "none", fails: true}, {user: "app", group: "none", fails: true}, {user: "minus", fails: true}, {user: "empty", fails: true}, {user: "over", fails: true},
		{user: "-1", fails: true}, {user: "4294967295", fails: true}, {user: "4294967296", fails: true}, {user: "5", group: "4294967296", fails: true},
	} {
		id, err := findUser(root, wanted{test.user, test.group})
		if test.fails != (err != nil) || err == nil && (id.uid != test.uid || id.gid != test.gid || len(id.groups) != test.n) {
			t.Errorf("%s:%s is %+v (%v)", test.user, test.group, id, err)
		}
	}
}

// TestUser: the first process's own group is among the others, which are in order.
func TestUser(t *testing.T) {
	var p cri.Identified = &prepared{spec: wire.Container{Process: wire.Process{IDs: true, UID: 7, GID: 1000, Groups: []int{50000, 1000, 1234}}}}
	u := p.User()
	if u.GetUid() != 7 || u.GetGid() != 1000 || !slices.Equal(u.GetSupplementalGroups(), []int64{1000, 1234, 50000}) {
		t.Errorf("it begins as %v", u)
	}
}
