package isolated

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

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

// findUser looks users and groups up in an image's own files.
func findUser(root string, w wanted) (id identity, err error) {
	name := w.user
	if line := find(table(root, "etc/passwd"), w.user); line != nil {
		name = line[0]
		if id.uid, err = parseID(line[2]); err == nil {
			id.gid, err = parseID(line[3])
		}
	} else {
		id.uid, err = parseID(w.user)
	}
	if err != nil {
		return id, fmt.Errorf("the image has no user %q: %w", w.user, err)
	}
	return id, id.findGroups(table(root, "etc/group"), w.group, name)
}

// findGroups finds the group that is wanted, if one is, and those that list the user.
func (id *identity) findGroups(groups [][]string, wanted, user string) (err error) {
	if line := find(groups, wanted); line != nil {
		id.gid, err = parseID(line[2])
	} else if wanted != "" {
		id.gid, err = parseID(wanted)
	}
	if err != nil {
		return fmt.Errorf("the image has no group %q: %w", wanted, err)
	}
	for _, line := range groups {
		if len(line) < 4 || !contains(line[3], user) {
			continue
		}
		gid, err := parseID(line[2])
		if err != nil {
			return fmt.Errorf("group %q of the image: %w", line[0], err)
		}
		id.groups = append(id.groups, gid)
	}
	return nil
}

// maxID is the highest id of a user or a group. The kernel takes the one above as "leave it as it is" and cuts off
// higher ones: both would be root.
const maxID = math.MaxUint32 - 1

func parseID(text string) (int, error) {
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, err
	}
	if id > maxID {
		return 0, fmt.Errorf("invalid id %q: %w", text, strconv.ErrRange)
	}
	return int(id), nil
}

// maxTable is more than a list of users or groups has.
const maxTable = 4 << 20

// table reads a file of lines with fields; an image may have none. A link in the image leads to nothing outside of it.
func table(root, path string) [][]string {
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
	var lines [][]string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) > 2 {
			lines = append(lines, fields)
		}
	}
	return lines
}

// find finds a line by the name that it begins with or, where a number is wanted, by that alone: nobody is root for
// being called 1000.
func find(lines [][]string, wanted string) []string {
	field := 0
	if _, err := strconv.Atoi(wanted); err == nil {
		field = 2
	}
	for _, line := range lines {
		if line[field] == wanted {
			for len(line) < 4 {
				line = append(line, "0")
			}
			return line
		}
	}
	return nil
}

func contains(list, name string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		if entry == name {
			return true
		}
	}
	return false
}
