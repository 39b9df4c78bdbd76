// Package workload is what every benchmark program in Go does: it obeys commands on standard input, one a line, and
// answers each with one line of JSON. The README of tests/bench has the commands.
package workload

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Serve obeys until standard input ends.
func (program *Program) Serve() error {
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		var numbers [2]int
		for i, word := range words[1:] {
			number, err := strconv.Atoi(word)
			if err != nil {
				return err
			}
			numbers[i] = number
		}
		answer, err := program.obey(words[0], numbers[0], numbers[1])
		if err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	return lines.Err()
}

func (program *Program) obey(command string, first, second int) (any, error) {
	switch command {
	case "cycles":
		return program.cycles(first)
	case "paths":
		return program.paths(first, second)
	case "share":
		return program.share(first, second)
	case "queue":
		return program.queue(first)
	case "drain":
		return program.drain()
	}
	return nil, fmt.Errorf("unknown command %s", command)
}

// Main runs one program: its arguments are HOSTS and LOCK_PATH.
func Main(connect func(hosts string) (make Make, end func() error, err error)) {
	if err := run(connect); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(connect func(hosts string) (Make, func() error, error)) error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: %s HOSTS LOCK_PATH", os.Args[0])
	}
	make, end, err := connect(os.Args[1])
	if err != nil {
		return err
	}
	if err := New(make, os.Args[2]).Serve(); err != nil {
		return err
	}
	return end()
}
