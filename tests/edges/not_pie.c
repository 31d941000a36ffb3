/* The same, linked to fixed addresses (reports.sh). */
#include "pie.c"
