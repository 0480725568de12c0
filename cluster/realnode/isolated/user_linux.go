package isolated

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/moby/sys/user"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
)

// wanted is who a container's program is to run as: names or numbers.
type wanted struct{ user, group string }

// wantedUser is what the pod says or, where it says nothing, what the image does.
func wantedUser(ofImage string, security *runtimeapi.LinuxContainerSecurityContext) wanted {
	var w wanted
	w.user, w.group, _ = strings.Cut(ofImage, ":")
	switch {
	case security.GetRunAsUser() != nil:
		w = wanted{user: strconv.FormatInt(security.GetRunAsUser().GetValue(), 10)}
	case security.GetRunAsUsername() != "":
		w = wanted{user: security.GetRunAsUsername()}
	}
	if security.GetRunAsGroup() != nil {
		w.group = strconv.FormatInt(security.GetRunAsGroup().GetValue(), 10)
	}
	if w.user == "" {
		w.user = "0"
	}
	return w
}

type identity struct {
	uid, gid int
	groups   []int // besides gid
}

// findUser looks users and groups up in an image's own files, as container runtimes do. The groups that list the user
// are found without the wanted one: a container is in them whichever it begins with.
func findUser(root string, w wanted) (identity, error) {
	users, groups := readTable(root, "etc/passwd", userLine), readTable(root, "etc/group", groupLine)
	found, err := user.GetExecUser(w.user, nil, bytes.NewReader(users), bytes.NewReader(groups))
	if err != nil {
		return identity{}, fmt.Errorf("the image has no user %q: %w", w.user, err)
	}
	if w.group != "" {
		inGroup, err := user.GetExecUser(w.user+":"+w.group, nil, bytes.NewReader(users), bytes.NewReader(groups))
		if err != nil {
			return identity{}, fmt.Errorf("the image has no group %q: %w", w.group, err)
		}
		found.Gid = inGroup.Gid
	}
	for _, id := range append([]int{found.Uid, found.Gid}, found.Sgids...) {
		if id > maxID {
			return identity{}, fmt.Errorf("invalid id %d of user %q in the image: %w", id, w.user, user.ErrRange)
		}
	}
	return identity{found.Uid, found.Gid, found.Sgids}, nil
}

const (
	maxID    = math.MaxInt32 // the highest id that container runtimes take
	maxTable = 4 << 20       // more than a list of users or groups has
)

// Lines whose ids are numbers. The library takes any other text for 0, which is root's.
var (
	userLine  = regexp.MustCompile(`(?m)^[^:\n]*:[^:\n]*:\d+(:\d+(:.*)?)?$`)
	groupLine = regexp.MustCompile(`(?m)^[^:\n]*:[^:\n]*:\d+(:.*)?$`)
)

// readTable reads the valid lines of a file, which an image may not have. A link in the image leads to nothing outside
// of it.
func readTable(root, path string, valid *regexp.Regexp) []byte {
	at, err := containerinit.Within(root, path)
	if err != nil {
		return nil
	}
	f, err := os.Open(at)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTable))
	if err != nil {
		return nil
	}
	return bytes.Join(valid.FindAll(text, -1), []byte("\n"))
}
