package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/http"
	"syscall"
	"time"
	"unsafe"
)

// aggregate serves a version of a group of the API on port 8443, with a certificate of its own.
func aggregate(args []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	http.HandleFunc("/apis/"+args[0], func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[]}`, args[0])
	})
	server := &http.Server{Addr: ":8443", TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
	}}
	return server.ListenAndServeTLS("", "")
}

// linkdown tries to take the loopback of its network down.
func linkdown([]string) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	request := struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags int16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("take lo down: %w", errno)
	}
	return syscall.Close(socket)
}
