import java.util.Random;

/** Draws texts that are close to a legal expression; some still are one. */
final class NearMisses {
    private static final String ALPHABET = "0123456789*?/-,#LWXA  ";
    /** Elements that are wrong, or odd, in at least one field. */
    private static final String[] ODD = {
        "60", "61", "24", "25", "32", "13", "8", "0", "99", "00", "05", "007", "-1", "99999999999",
        "?", "*", "L", "LW", "WL", "W", "L-", "L-3", "L-30", "L-31", "L-3W", "LW-3", "L3", "3L", "1L", "8L",
        "0L", "0W", "15W", "32W", "1W,15W", "1,15W", "1-5W", "15W-20", "L,15", "15,L", "L,L", "6L,2",
        "6#3", "6#0", "6#6", "8#1", "0#1", "6#", "#3", "6#3#1", "6#3,2", "2,6#3", "FRI#2", "FRI#9", "FRIL",
        "MON", "mon", "MONDAY", "MONDAY-FRIDAY", "MON-FRI", "MON-FRI/2", "FRI-MON", "MON-6", "2-FRI",
        "MON/2", "MO", "M", "XYZ", "JAN", "JANUARY", "JAN-MAR", "NOV-FEB", "JAN/3", "JAN-DEC/3", "JAN-3",
        "1,,2", "1,", ",1", ",", "1-", "-", "1-2-3", "5-3", "5-5", "1-5/2", "1-5/0", "1-5/", "1-5/90",
        "*/5", "/5", "*/0", "0/0", "5/0", "*/", "/", "*/60", "*/24", "*/32", "*/13", "*/8", "0/60", "1/24",
        "*5", "**", "*,5", "5,*", "*-5", "1-*", "*/5/2", "1/2/3", "*/5,7", "1/2-3", "5X", "1L5", "?5", "?,5",
        "5,?", "??", "?/2", "1969", "1970", "2099", "2100", "2030-2020", "2020-2030", "2030", "30", "2020/5",
        "1-31", "1-7", "0-6", "0-23", "23-0", "31-1", "12-1", "7-1", "59-0", "1.5", "+5", "0x5",
    };

    private final Random random;
    private final Expressions legal;
    private int turn;

    NearMisses(Random random) {
        this.random = random;
        this.legal = new Expressions(random);
    }

    /** Each odd element in each field first, then random damage. */
    String next() {
        String[] plain = {"0", "0", "12", "?", "*", "*", "*"};
        int field = turn % plain.length;
        int odd = turn / plain.length;
        turn++;
        if (odd >= ODD.length) {
            return damage(legal.next());
        }
        plain[field] = ODD[odd];
        if (field == 3) {
            plain[5] = "?"; // else the day of month would only be wrong for standing beside another day
        }
        return String.join(" ", plain);
    }

    private String damage(String expression) {
        int at = random.nextInt(expression.length());
        char drawn = ALPHABET.charAt(random.nextInt(ALPHABET.length()));
        String before = expression.substring(0, at);
        return switch (random.nextInt(5)) {
            case 0 -> before + expression.substring(at + 1);
            case 1 -> before + drawn + expression.substring(at);
            case 2 -> before + drawn + expression.substring(at + 1);
            case 3 -> replaceField(expression, ODD[random.nextInt(ODD.length)]);
            default -> swapFields(expression);
        };
    }

    private String replaceField(String expression, String with) {
        String[] fields = expression.split(" ");
        fields[random.nextInt(fields.length)] = with;
        return String.join(" ", fields);
    }

    private String swapFields(String expression) {
        String[] fields = expression.split(" ");
        int a = random.nextInt(fields.length);
        int b = random.nextInt(fields.length);
        String swapped = fields[a];
        fields[a] = fields[b];
        fields[b] = swapped;
        return String.join(" ", fields);
    }
}
