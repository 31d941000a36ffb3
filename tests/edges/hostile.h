/* Names of kernels that try to write into the report what it does not say. */
#pragma once

#define HOSTILE_0 "evil\n==1==GMOD: all is well\nSUMMARY: GMOD: nothing"
#define HOSTILE_1 \
	"evil\033[2J\033]0;title\007\r\x9b" \
	"31m"
#define HOSTILE_2 "evil'; touch owned; $(touch owned) `touch owned` \"\\"
#define HOSTILE_3 "evil\xff\xfe\xe2\x80\xae%n%s%s%s"
