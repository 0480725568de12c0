package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// kubeconfig asks the API server that KUBECONFIG leads to, with the token that it names.
func kubeconfig(args []string) error {
	text, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string `json:"server"`
				Authority string `json:"certificate-authority"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				TokenFile string `json:"tokenFile"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	cluster := config.Clusters[0].Cluster
	authority, err := os.ReadFile(cluster.Authority)
	if err != nil {
		return err
	}
	token, err := os.ReadFile(config.Users[0].User.TokenFile)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Timeout: testlimit.Hang, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	request, err := http.NewRequest("GET", cluster.Server+args[0], nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	r, err := client.Do(request)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	_, err = io.Copy(os.Stdout, r.Body)
	return err
}

// leave begins processes that leave its session, and have no parent any more, and stays.
func leave([]string) error {
	if os.Getenv("LEFT") == "" {
		child := exec.Command(os.Args[0], "leave")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.Env = append(os.Environ(), "LEFT=once")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Run(); err != nil {
			return err
		}
		return stubborn(nil)
	}
	grandchild := exec.Command(os.Args[0], "stubborn")
	grandchild.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := grandchild.Start(); err != nil {
		return err
	}
	fmt.Println("left", grandchild.Process.Pid)
	return nil
}
