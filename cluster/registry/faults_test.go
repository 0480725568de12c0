package registry_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// serveIn is the variable that makes the test program a durable registry in that folder, until it is killed.
const serveIn = "SLIPWAY_TEST_REGISTRY"

func TestMain(m *testing.M) {
	if bePart() {
		return
	}
	if dir := os.Getenv(serveIn); dir != "" {
		r, err := registry.Start(registry.Options{Dir: dir, Durable: true})
		if err != nil {
			panic(err)
		}
		fmt.Println(r.Address())
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the test at the latest
		return
	}
	os.Exit(m.Run())
}

// serving starts a registry in another process and returns its address.
func serving(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveIn+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	var address string
	if _, err := fmt.Fscanln(stdout, &address); err != nil {
		t.Fatal(err)
	}
	return cmd, address
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// request sends a request and returns its status and its Location.
func request(t *testing.T, method, url string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Location")
}

// halfPushed sends half of data and keeps the connection open; finish sends the rest.
func halfPushed(t *testing.T, address string, data []byte) (finish func() error) {
	t.Helper()
	status, location := request(t, "POST", "http://"+address+"/v2/op/blobs/uploads/", nil)
	if status != http.StatusAccepted {
		t.Fatal("status", status)
	}
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		req, err := http.NewRequest(http.MethodPut, "http://"+address+location+"?digest="+sha(data), r)
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				err = resp.Body.Close()
				if resp.StatusCode != http.StatusCreated {
					err = fmt.Errorf("status %d", resp.StatusCode)
				}
			}
		}
		_ = r.CloseWithError(io.ErrClosedPipe)
		ended <- err
	}()
	if _, err := w.Write(data[:len(data)/2]); err != nil {
		t.Fatal(err)
	}
	return func() error {
		_, _ = w.Write(data[len(data)/2:])
		_ = w.Close()
		return <-ended
	}
}

// present are the contents that are kept in a folder.
func present(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestKilledWhilePushed(t *testing.T) {
	dir := t.TempDir() + "/registry"
	cmd, address := serving(t, dir)
	whole, half := bytes.Repeat([]byte("whole"), 1<<18), bytes.Repeat([]byte("half"), 1<<18)
	if status, _ := request(t, "POST", "http://"+address+"/v2/op/blobs/uploads/?digest="+sha(whole), bytes.NewReader(whole)); status != http.StatusCreated {
		t.Fatal("status", status)
	}
	finish := halfPushed(t, address, half)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if finish() == nil {
		t.Error("a killed registry took an upload")
	}

	r := start(t, registry.Options{Dir: dir, Durable: true})
	if status, _ := request(t, "HEAD", "http://"+r.Address()+"/v2/op/blobs/"+sha(whole), nil); status != http.StatusOK {
		t.Error("what was acknowledged is gone: status", status)
	}
	if status, _ := request(t, "HEAD", "http://"+r.Address()+"/v2/op/blobs/"+sha(half), nil); status != http.StatusNotFound {
		t.Error("half of an upload is there: status", status)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "uploads")); len(left) > 0 {
		t.Error("left over:", left, err)
	}
	if found := present(t, dir); len(found) != 1 {
		t.Errorf("contents are %q, want one", found)
	}
}

func TestPushStandsStillAlone(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	slow := bytes.Repeat([]byte("slow"), 1<<18)
	finish := halfPushed(t, r.Address(), slow)
	img := image(t)
	push(t, ref(t, r, "op:v1"), img)
	pulled(t, ref(t, r, "op:v1"), img)
	if err := finish(); err != nil {
		t.Error(err)
	}
}

func TestPushesAtOnce(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	same, other := image(t), image(t)
	var all errgroup.Group
	for i := range 8 {
		to, img := ref(t, r, "op:same"), same
		if i%2 == 1 {
			to, img = ref(t, r, fmt.Sprintf("op:v%d", i)), other
		}
		all.Go(func() error { return remote.Write(to, img) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	pulled(t, ref(t, r, "op:same"), same)
	pulled(t, ref(t, r, "op:v7"), other)
}

func TestWrongDigestIsRefused(t *testing.T) {
	dir := t.TempDir() + "/registry"
	r := start(t, registry.Options{Dir: dir})
	url := "http://" + r.Address() + "/v2/op/blobs/uploads/"
	if status, _ := request(t, "POST", url+"?digest="+sha([]byte("a")), strings.NewReader("b")); status != http.StatusBadRequest {
		t.Error("status", status)
	}
	_, location := request(t, "POST", url, nil)
	if status, _ := request(t, "PUT", "http://"+r.Address()+location+"?digest="+sha([]byte("a")), strings.NewReader("b")); status != http.StatusBadRequest {
		t.Error("status", status)
	}
	if found := present(t, dir); len(found) != 0 {
		t.Errorf("contents are %q, want none", found)
	}
}
