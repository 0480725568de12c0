package test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"
)

// cargo is what a durable registry keeps.
const cargo = "cargo"

func digestOfCargo() string {
	sum := sha256.Sum256([]byte(cargo))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// push puts the cargo into the cluster's registry, at the address that it reports.
func push(t *testing.T, p *program) {
	t.Helper()
	url := "http://" + p.dial(t).next("ready").Registry + "/v2/op/blobs/uploads/?digest=" + digestOfCargo()
	resp, err := http.Post(url, "application/octet-stream", bytes.NewReader([]byte(cargo)))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatal("push:", resp.Status)
	}
}

// pull expects the cargo.
func pull(t *testing.T, p *program) {
	t.Helper()
	resp, err := http.Head("http://" + p.dial(t).next("ready").Registry + "/v2/op/blobs/" + digestOfCargo())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error("pull:", resp.Status)
	}
}
