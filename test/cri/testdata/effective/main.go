// Effective prints the user whose rights it has; its file is root's and has the bit for that.
package main

import (
	"fmt"
	"os"
)

func main() { fmt.Printf("Effective uid: %d\n", os.Geteuid()) }
