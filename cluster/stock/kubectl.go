package stock

import (
	"fmt"
	"os"
	"path/filepath"
)

// sibling is the program that kubectl is; it is built together with this one and lies beside it.
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
		return 0, fmt.Errorf("kubectl is the program %s, which belongs beside slipway-cluster: %w (`go build ./cmd/...` builds both)", sibling, err)
	}
	return become(path, args)
}
