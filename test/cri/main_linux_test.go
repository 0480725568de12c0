package cri

import (
	"os"
	"testing"
)

// TestMain is also the process of the node, which the test starts.
func TestMain(m *testing.M) {
	if dir := os.Getenv(nodeVariable); dir != "" {
		os.Exit(node(dir))
	}
	os.Exit(m.Run())
}
