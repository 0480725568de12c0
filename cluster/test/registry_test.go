package test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"
)

// TestRegistry: a cluster's registry is at the address that it tells, and a durable one has its images again after a
// kill.
func TestRegistry(t *testing.T) {
	config := newConfig(t)
	config.Durable, config.Controllers = true, new(false)
	p := launch(t, config)
	address := p.next("ready").Registry
	data := []byte("cargo")
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	resp, err := http.Post("http://"+address+"/v2/op/blobs/uploads/?digest="+digest, "application/octet-stream", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatal("push:", resp.Status)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.waitExit()

	again := launch(t, config).next("ready").Registry
	resp, err = http.Head("http://" + again + "/v2/op/blobs/" + digest)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error("pull:", resp.Status)
	}
}
