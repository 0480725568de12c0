package prove

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// names knows which names of objects are the same in each run. The others are made at random, and known by their
// beginnings.
type names struct{ stable map[string]bool }

// canonical is a name, or its beginning and "*".
func (n names) canonical(namespace, name string) string {
	if name == "" || n.stable == nil || n.stable[namespace+"/"+name] || strings.HasSuffix(name, "*") {
		return name
	}
	return beginning(name)
}

// beginning is what is before the last part of a name, and "*".
func beginning(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		return name[:i+1] + "*"
	}
	return "*"
}

// digest stands for a text that is not shown.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:6])
}
