// Package words_test holds the repository's rules about what people read: messages, pages, translations and the lines
// of prose. `make lint` runs it.
package words_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/repotest"
)

const root = "../../.."

func files(t *testing.T, suffix string) []string {
	t.Helper()
	return repotest.Files(t, root, suffix)
}

func readText(t *testing.T, file string) string {
	t.Helper()
	return repotest.Text(t, root, file)
}
