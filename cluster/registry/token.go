package registry

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Token returns the token in a file, which it makes for this user alone if it is not there. Programs that find it there
// may push.
func Token(path string) (string, error) {
	text, err := os.ReadFile(path)
	switch {
	case err == nil && len(text) >= len(rand.Text()):
		return string(text), os.Chmod(path, tokenMode)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read the registry's token: %w", err)
	}
	token := rand.Text()
	temp := path + ".new"
	if err := errors.Join(os.WriteFile(temp, []byte(token), tokenMode), os.Rename(temp, path)); err != nil {
		return "", fmt.Errorf("write the registry's token: %w", err)
	}
	return token, nil
}

const tokenMode = 0o600
