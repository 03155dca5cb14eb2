import java.util.Random;
import java.util.StringJoiner;

/** Draws expressions of the Quartz dialect that are legal and mean something. */
final class Expressions {
    private static final String[] MONTHS = {
        "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
    };
    private static final String[] DAYS = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

    private final Random random;

    Expressions(Random random) {
        this.random = random;
    }

    String next() {
        StringJoiner fields = new StringJoiner(" ");
        boolean dense = random.nextBoolean(); // fires often, so that its fires meet the clock change
        fields.add(dense && oneIn(2) ? "0" : field(0, 59, 10));
        fields.add(field(0, 59, dense ? 2 : 6));
        fields.add(dense ? denseHours() : field(0, 23, 3));
        boolean byDate = random.nextBoolean();
        fields.add(byDate ? (dense && oneIn(2) ? "*" : dayOfMonth()) : "?");
        fields.add(oneIn(2) ? "*" : month());
        fields.add(byDate ? "?" : (dense && oneIn(2) ? "*" : dayOfWeek()));
        if (oneIn(5)) {
            fields.add(year());
        }
        return fields.toString();
    }

    private String denseHours() {
        return switch (random.nextInt(4)) {
            case 0 -> "*";
            case 1 -> "0-" + number(1, 5);
            case 2 -> number(20, 23) + "-" + number(0, 5);
            default -> String.valueOf(number(0, 3));
        };
    }

    /** Any field of plain numbers; one in {@code every} is a star or starts with one. */
    private String field(int min, int max, int every) {
        if (oneIn(every)) {
            return oneIn(2) ? "*" : (oneIn(4) ? "" : "*") + "/" + number(1, max - min);
        }
        int elements = oneIn(3) ? number(2, 4) : 1;
        StringJoiner list = new StringJoiner(",");
        for (int i = 0; i < elements; i++) {
            list.add(element(min, max));
        }
        return list.toString();
    }

    private String element(int min, int max) {
        int value = number(min, max);
        String padded = oneIn(10) ? "0" + value : String.valueOf(value);
        return switch (random.nextInt(6)) {
            case 0 -> value + "-" + number(min, max);
            case 1 -> value + "-" + number(min, max) + "/" + number(1, max - min);
            case 2 -> value + "/" + number(1, max - min);
            default -> padded;
        };
    }

    private String dayOfMonth() {
        return switch (random.nextInt(8)) {
            case 0 -> "L";
            case 1 -> "L-" + number(0, 30);
            case 2 -> "LW";
            // From L-28W on, Quartz loops for ever once it comes to a month that is too short.
            case 3 -> "L-" + number(0, 27) + "W";
            case 4, 5 -> number(1, 31) + "W";
            default -> field(1, 31, 8);
        };
    }

    private String month() {
        return oneIn(2) ? field(1, 12, 8) : names(MONTHS);
    }

    private String dayOfWeek() {
        String day = oneIn(2) ? String.valueOf(number(1, 7)) : pick(DAYS);
        return switch (random.nextInt(7)) {
            case 0 -> "L";
            case 1 -> day + "L";
            case 2, 3 -> day + "#" + number(1, 5);
            case 4 -> names(DAYS);
            default -> field(1, 7, 8);
        };
    }

    private String names(String[] of) {
        return switch (random.nextInt(3)) {
            case 0 -> pick(of);
            case 1 -> pick(of) + "-" + pick(of);
            default -> pick(of) + "," + pick(of) + "," + pick(of).toLowerCase();
        };
    }

    private String year() {
        int from = number(1995, 2060);
        return switch (random.nextInt(6)) {
            case 0 -> "*";
            case 1 -> "*/" + number(1, 7);
            case 2 -> from + "/" + number(1, 9);
            case 3 -> from + "-" + (from + number(0, 30));
            case 4 -> from + "-" + (from + number(0, 30)) + "/" + number(1, 5);
            default -> from + "," + (from + number(0, 30));
        };
    }

    private String pick(String[] of) {
        return of[random.nextInt(of.length)];
    }

    private int number(int min, int max) {
        return min + random.nextInt(max - min + 1);
    }

    private boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }
}
