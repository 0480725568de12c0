package stock

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// sibling is the program that kubectl is; it lies beside this one once it is compiled.
const sibling = "slipway-kubectl"

// Kubectl hands over to the program slipway-kubectl beside this one. args[0] is the name under which it runs.
func Kubectl(args []string) int {
	status, err := kubectl(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "slipway-cluster: %v\n", err)
		return 1
	}
	return status
}

func kubectl(args []string) (status int, err error) {
	own, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find kubectl: %w", err)
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return 0, fmt.Errorf("find kubectl: %w", err)
	}
	path := filepath.Join(filepath.Dir(own), sibling+filepath.Ext(own))
	if _, err := os.Stat(path); err != nil {
		return 0, fmt.Errorf("kubectl is the program %s, which belongs beside slipway-cluster: %w (`slipway cluster build` compiles both)", sibling, err)
	}
	if err := whole(path); err != nil {
		return 0, err
	}
	return become(path, args)
}

// note is the part of the note beside programs, which slipway writes when it has built them, that tells of a file that
// was cut off: such a program would end by a signal, with no word. Slipway compares contents, too, whenever it looks
// for programs.
type note struct {
	Files map[string]struct {
		Size int64 `json:"size"`
	} `json:"files"`
}

// noteName is the note's name, see docs/inside/protocol.md.
const noteName = "slipway-programs.json"

// whole compares the size of kubectl with the note. Without a note nothing is known.
func whole(path string) error {
	var n note
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), noteName))
	if err != nil || json.Unmarshal(text, &n) != nil {
		return nil
	}
	then, known := n.Files[sibling]
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if known && info.Size() != then.Size {
		return fmt.Errorf("kubectl is damaged: %s has %d bytes, of %d; `slipway cluster build` builds it again", path, info.Size(), then.Size)
	}
	return nil
}
