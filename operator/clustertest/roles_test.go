package clustertest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// roleVariable makes this test binary a program that starts a cluster and tells its folder
// and server, and then ends in one of many ways or waits to be ended. None stops the cluster.
const roleVariable = "CLUSTERTEST_ROLE"

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	role := os.Getenv(roleVariable)
	if role == "" {
		shared.Main(m)
		return
	}
	c, err := StartContext(context.Background(), Controllers(false))
	if err != nil {
		panic(err)
	}
	fmt.Printf("\n%s %s\n", c.dir, c.Config().Host)
	m.Run()
}

// TestRole ends the program of a role.
func TestRole(t *testing.T) {
	switch os.Getenv(roleVariable) {
	case "":
		t.Skip("this is no role")
	case "forget":
		return
	case "exit":
		os.Exit(3)
	case "panic":
		panic("as asked")
	case "goroutine panic":
		go panic("as asked")
	}
	select {}
}
