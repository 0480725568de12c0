package release_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
)

func pair(t *testing.T) (ed25519.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return public, private
}

// TestVerify: what was signed is read; another key, a byte more, and what is no signature are refused.
func TestVerify(t *testing.T) {
	public, private := pair(t)
	other, _ := pair(t)
	sums := release.Sums{"b.zip": sha256.Sum256([]byte("b")), "a.tar.gz": sha256.Sum256([]byte("a"))}
	text := sums.Text()
	signature := release.Sign(private, text)
	got, err := release.Verify(public, text, signature)
	if err != nil || !maps.Equal(got, sums) {
		t.Fatalf("got %v, %v", got, err)
	}
	if !strings.HasSuffix(string(text), "  b.zip\n") || strings.Count(string(text), "\n") != 2 {
		t.Errorf("the lines are not those of sha256sum: %q", text)
	}
	for name, refused := range map[string]func() error{
		"another key": func() error { _, err := release.Verify(other, text, signature); return err },
		"more text": func() error {
			_, err := release.Verify(public, append(slices.Clone(text), '\n'), signature)
			return err
		},
		"no text":         func() error { _, err := release.Verify(public, nil, signature); return err },
		"no signature":    func() error { _, err := release.Verify(public, text, nil); return err },
		"half of it":      func() error { _, err := release.Verify(public, text, signature[:40]); return err },
		"a page":          func() error { _, err := release.Verify(public, text, []byte("<html>sign in</html>")); return err },
		"a long text":     func() error { _, err := release.Verify(public, text, bytes.Repeat(signature, 100)); return err },
		"a bit otherwise": func() error { _, err := release.Verify(public, text, flipped(t, signature)); return err },
	} {
		if err := refused(); !errors.Is(err, release.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// flipped is the signature with one bit changed.
func flipped(t *testing.T, signature []byte) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(signature)))
	if err != nil {
		t.Fatal(err)
	}
	raw[7] ^= 1
	return []byte(base64.StdEncoding.EncodeToString(raw))
}

func TestParseSumsRefuses(t *testing.T) {
	sum := strings.Repeat("0a", sha256.Size)
	for name, text := range map[string]string{
		"a page":          "<html></html>\n",
		"a folder":        sum + "  ../slipway\n",
		"a parent":        sum + "  ..\n",
		"no name":         sum + "  \n",
		"a short sum":     sum[2:] + "  a\n",
		"no digits":       strings.Repeat("x", 2*sha256.Size) + "  a\n",
		"the same again":  sum + "  a\n" + sum + " *a\n",
		"an empty line":   sum + "  a\n\n",
		"more than fits":  strings.Repeat(sum+"  a\n", 2000),
		"one space alone": sum + " a\n",
	} {
		if got, err := release.ParseSums([]byte(text)); !errors.Is(err, release.ErrSums) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func FuzzParseSums(f *testing.F) {
	f.Add([]byte(strings.Repeat("0a", sha256.Size) + "  slipway_v0.1.0_linux_amd64.tar.gz\n"))
	f.Add([]byte(strings.Repeat("0A", sha256.Size) + " *a\r\n"))
	f.Add([]byte("<html>\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		sums, err := release.ParseSums(text)
		if err != nil {
			return
		}
		for name := range sums {
			if name == "" || strings.ContainsAny(name, "/\\") {
				t.Errorf("a file called %q", name)
			}
		}
		again, err := release.ParseSums(sums.Text())
		if err != nil || !maps.Equal(again, sums) {
			t.Errorf("written and read again: %v, %v", again, err)
		}
	})
}
