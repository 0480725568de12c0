package cri

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
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
func findUser(root string, w wanted) (identity, error) {
	inside, err := os.OpenRoot(root) // a link in the image leads to nothing outside of it
	if err != nil {
		return identity{}, err
	}
	defer inside.Close()
	passwd, groups := table(inside, "etc/passwd"), table(inside, "etc/group")
	id, name := identity{}, w.user
	if line := find(passwd, w.user); line != nil {
		name = line[0]
		id.uid, id.gid = number(line[2]), number(line[3])
	} else if id.uid, err = strconv.Atoi(w.user); err != nil {
		return id, fmt.Errorf("the image has no user %q", w.user)
	}
	if w.group != "" {
		if line := find(groups, w.group); line != nil {
			id.gid = number(line[2])
		} else if id.gid, err = strconv.Atoi(w.group); err != nil {
			return id, fmt.Errorf("the image has no group %q", w.group)
		}
	}
	for _, line := range groups {
		if len(line) > 3 && contains(line[3], name) {
			id.groups = append(id.groups, number(line[2]))
		}
	}
	return id, nil
}

// table reads a file of lines with fields; an image may have none.
func table(root *os.Root, path string) [][]string {
	text, err := root.ReadFile(path)
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

// find finds a line by the name or by the number that it begins with.
func find(lines [][]string, wanted string) []string {
	for _, line := range lines {
		if line[0] == wanted || line[2] == wanted {
			for len(line) < 4 {
				line = append(line, "")
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

// number is 0 for what is none, as root's are.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
